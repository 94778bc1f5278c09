package io.dynamo.arch.planted.token;

import jakarta.inject.Singleton;

/** Core with a container's annotation. */
@Singleton
public final class WantsToBeABean {}
