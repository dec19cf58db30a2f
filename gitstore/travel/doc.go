// Package travel brings runs and initiatives of a repository and of its remotes together: fetch, believe, join, push,
// and how the two stand to each other. It moves refs through the store; what an operation is and whether it holds is
// decided below.
package travel
