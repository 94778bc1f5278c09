package io.dynamo.cli.cluster;

/**
 * Thrown when a cluster cannot be started; the message names the part, the reason, and the remedy.
 */
public final class ClusterFailedException extends Exception {
  private static final long serialVersionUID = 1L;

  ClusterFailedException(String message) {
    super(message);
  }
}
