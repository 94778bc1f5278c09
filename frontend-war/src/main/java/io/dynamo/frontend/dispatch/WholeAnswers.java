package io.dynamo.frontend.dispatch;

/** The ways to answers that a worker gives as one item. */
public record WholeAnswers(Embedder embedder, Tasks tasks) {}
