package io.dynamo.arch.planted.event;

import io.dynamo.arch.planted.request.AsksEvents;

/** One half of a cycle. */
public record AsksRequests(AsksEvents back) {}
