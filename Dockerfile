# One component's image, laid out like those of `go run ./tools/images build` (see
# tools/images/README.md), for those who build with Docker:
#
#   docker build --build-arg COMPONENT=operators/workloads -t flotilla/workloads:dev .
#   docker build --build-arg COMPONENT=webhook -t flotilla/webhook:dev .
#   docker build --build-arg COMPONENT=daemon --build-arg RUN_AS=0:0 -t flotilla/daemon:dev .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG COMPONENT
ARG VERSION=dev
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src
# A component needs no module of ours but shared.
COPY shared ./shared
COPY ${COMPONENT} ./${COMPONENT}
RUN --mount=type=cache,target=/root/.cache/go-build \
    --mount=type=cache,target=/go/pkg/mod \
    cd "$COMPONENT" && name="$(basename "$COMPONENT")" && mkdir -p /out/etc \
    && CGO_ENABLED=0 GOWORK=off GOOS="$TARGETOS" GOARCH="$TARGETARCH" go build -trimpath -buildvcs=false \
        -tags=timetzdata -ldflags="-s -w -buildid= -X main.version=$VERSION" -o "/out/$name" . \
    && ln -s "$name" /out/entrypoint \
    && mkdir -m 1777 /out/tmp \
    && printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n' > /out/etc/passwd \
    && printf 'root:x:0:\nnonroot:x:65532:\n' > /out/etc/group

FROM scratch
# The daemon alone runs as root: the container runtime's socket belongs to root.
ARG RUN_AS=65532:65532
COPY --from=build /out/ /
USER ${RUN_AS}
WORKDIR /
# An entrypoint in JSON takes no variable, hence the link to the binary.
ENTRYPOINT ["/entrypoint"]
