package io.dynamo.discovery.etcd;

/**
 * Runs calls to etcd for the threads of others. While etcd fails it may refuse calls at once, so
 * that none of these threads waits for a timeout. Safe for concurrent use.
 */
public interface StoreGuard {
  /**
   * Runs {@code call} on this thread, more than once where that may help.
   *
   * @param call may be repeated, and throws {@link StoreUnavailableException} when etcd fails
   * @throws StoreUnavailableException when the call failed or was refused
   */
  void run(Runnable call);
}
