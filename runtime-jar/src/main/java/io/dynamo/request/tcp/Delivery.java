package io.dynamo.request.tcp;

import io.dynamo.error.DynamoException;
import java.net.InetSocketAddress;

/**
 * One request on its way to a worker. It holds its share of the send budget until its bytes are
 * with the kernel. If a pooled connection turns out to be closed before the worker could have taken
 * the whole request, it is sent once more on a new one. Used by one thread at a time.
 */
final class Delivery implements RequestConnection.Attempt {
  private final ConnectionPool pool;
  private final InetSocketAddress worker;
  private final RequestFrame frame;
  private final RequestConnection.Outcome outcome;
  private boolean holdsBudget = true;
  private boolean mayRepeat = true;

  Delivery(
      ConnectionPool pool,
      InetSocketAddress worker,
      RequestFrame frame,
      RequestConnection.Outcome outcome) {
    this.pool = pool;
    this.worker = worker;
    this.frame = frame;
    this.outcome = outcome;
  }

  InetSocketAddress worker() {
    return worker;
  }

  RequestFrame frame() {
    return frame;
  }

  /** Notes that the connection is new and so cannot be stale: the request is not sent again. */
  void isOnFreshConnection() {
    mayRepeat = false;
  }

  @Override
  public void written() {
    giveBack();
  }

  @Override
  public void acknowledged() {
    giveBack();
    outcome.acknowledged();
  }

  @Override
  public void failed(DynamoException cause) {
    giveBack();
    outcome.failed(cause);
  }

  @Override
  public void refused(DynamoException refusal) {
    giveBack();
    outcome.refused(refusal);
  }

  @Override
  public void neverTaken(DynamoException cause) {
    if (mayRepeat) {
      mayRepeat = false;
      pool.repeat(this);
    } else {
      failed(cause);
    }
  }

  private void giveBack() {
    if (holdsBudget) {
      holdsBudget = false;
      pool.budget.give(frame.length());
    }
  }
}
