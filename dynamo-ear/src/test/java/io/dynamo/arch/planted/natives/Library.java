package io.dynamo.arch.planted.natives;

/** In its place. */
public final class Library {}
