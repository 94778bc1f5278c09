package io.dynamo.cli.cluster;

/** A cluster cannot be started; the message names the part, the reason, and what to do. */
public final class ClusterFailedException extends Exception {
  private static final long serialVersionUID = 1L;

  ClusterFailedException(String message) {
    super(message);
  }
}
