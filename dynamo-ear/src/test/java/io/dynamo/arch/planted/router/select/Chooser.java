package io.dynamo.arch.planted.router.select;

/** Behind the door. */
public final class Chooser {}
