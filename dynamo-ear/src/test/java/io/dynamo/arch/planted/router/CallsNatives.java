package io.dynamo.arch.planted.router;

import io.dynamo.arch.planted.natives.Library;

/** Past the runtime. */
public record CallsNatives(Library library) {}
