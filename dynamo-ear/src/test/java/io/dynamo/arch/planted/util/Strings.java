package io.dynamo.arch.planted.util;

/** In a package that says nothing. */
public final class Strings {}
