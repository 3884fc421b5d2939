package wire

// AnnotationOtherVersion stands on an object of a kind with two versions and holds, as JSON, what the
// version it is shown in has no words for (WH-130). The conversion writes it and takes it away again;
// nobody else needs to look at it, and removing it drops those settings.
const AnnotationOtherVersion = "flotilla-k8s.github.io/other-version"
