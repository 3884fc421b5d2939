// Package admit knows how an admission request becomes a question to a pure function, and the function's
// answer a response: it decodes, brings the object to its hub version, and answers with the smallest
// patch or with errors that name fields.
package admit
