package io.dynamo.metrics;

/** One dimension of a metric; values come from a bounded set. */
public record Label(String key, String value) {}
