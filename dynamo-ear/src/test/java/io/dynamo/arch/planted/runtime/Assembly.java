package io.dynamo.arch.planted.runtime;

/** In its place. */
public final class Assembly {}
