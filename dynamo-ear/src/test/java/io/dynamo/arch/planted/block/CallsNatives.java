package io.dynamo.arch.planted.block;

import io.dynamo.arch.planted.natives.Library;

/** Past the transfer adapter. */
public record CallsNatives(Library library) {}
