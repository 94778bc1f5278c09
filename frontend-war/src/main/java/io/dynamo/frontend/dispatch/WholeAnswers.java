package io.dynamo.frontend.dispatch;

/** The ways to the answers of workers that generate no text. */
public record WholeAnswers(Embedder embedder, Tasks tasks, Tensors tensors) {}
