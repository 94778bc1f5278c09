package io.dynamo.arch.planted.frontend;

/** In its place. */
public final class Page {}
