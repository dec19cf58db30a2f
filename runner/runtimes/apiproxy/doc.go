// Package apiproxy asks a model provider for a turn result: the prompt and the
// context of the bundle in one request, the result in one answer. Anthropic, OpenAI,
// Ollama and Google are asked over plain HTTP, with the few members of their
// interfaces that a turn needs. The key comes from the environment variable that auth_env names; it
// is in the request's header and nowhere else.
package apiproxy
