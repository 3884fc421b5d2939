// Package image will hold the controllers of NodeImages, ImagePullJobs and ImageListPullJobs.
// README.md beside this file says what belongs here.
package image
