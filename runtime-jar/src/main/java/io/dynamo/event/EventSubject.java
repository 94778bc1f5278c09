package io.dynamo.event;

import io.dynamo.discovery.EndpointId;

/** What an event is about: a topic in the scope of an endpoint, for example {@code kv-events}. */
public record EventSubject(EndpointId scope, String topic) {}
