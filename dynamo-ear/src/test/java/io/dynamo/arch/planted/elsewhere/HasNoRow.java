package io.dynamo.arch.planted.elsewhere;

/** In a package that the table does not list and that is not null-marked. */
public final class HasNoRow {}
