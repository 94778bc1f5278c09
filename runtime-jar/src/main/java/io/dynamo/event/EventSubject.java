package io.dynamo.event;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.EventScope;

/** The subject of an event: a topic in a scope, for example {@code kv-events} of an endpoint. */
public record EventSubject(EventScope scope, String topic) {
  /** Creates the subject of a topic in the scope of {@code endpoint}. */
  public EventSubject(EndpointId endpoint, String topic) {
    this(new EventScope.OfEndpoint(endpoint), topic);
  }

  /** Returns the subject as it is written on the wire, for example {@code namespace.ns.kv}. */
  public String text() {
    return scope.subject() + "." + EventScope.segment(topic);
  }
}
