package io.dynamo.frontend.kserve;

/** The requests that a model has answered. */
public record ModelStatistics(String model, InferenceStatistics.Counts counts) {}
