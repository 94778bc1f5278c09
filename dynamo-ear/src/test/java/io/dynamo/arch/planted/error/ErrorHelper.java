package io.dynamo.arch.planted.error;

/** Named for nothing. */
public final class ErrorHelper {}
