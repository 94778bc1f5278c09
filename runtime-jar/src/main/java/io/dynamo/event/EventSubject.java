package io.dynamo.event;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.EventScope;

/** The subject of an event: a topic in a scope, for example {@code kv-events} of an endpoint. */
public record EventSubject(EventScope scope, String topic) {
  /** Creates the subject of a topic in the scope of {@code endpoint}. */
  public EventSubject(EndpointId endpoint, String topic) {
    this(new EventScope.OfEndpoint(endpoint), topic);
  }
}
