package io.dynamo.nats;

/** Nobody serves the subject of a request, as the NATS server knows at once. */
public final class NoRespondersException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NoRespondersException(String subject) {
    super("nobody serves the NATS subject " + subject, null, false, false);
  }
}
