package io.dynamo.arch.planted.token;

import io.dynamo.arch.planted.event.AsksRequests;

/** A lower row imports a higher one. */
public record KnowsEvents(AsksRequests higher) {}
