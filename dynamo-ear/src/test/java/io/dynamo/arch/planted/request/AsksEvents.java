package io.dynamo.arch.planted.request;

import io.dynamo.arch.planted.event.AsksRequests;

/** The other half of a cycle. */
public record AsksEvents(AsksRequests back) {}
