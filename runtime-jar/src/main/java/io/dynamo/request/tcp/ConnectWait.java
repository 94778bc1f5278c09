package io.dynamo.request.tcp;

import io.dynamo.config.plane.TcpSettings;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.OverloadedException;
import io.dynamo.error.WorkerLostException;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The wait of one connection for its turn at the gate. It is as long as a connection may take at
 * most, so that a request behind workers which do not answer is soon refused, or goes elsewhere.
 * Confined to the event loop of its connection.
 */
final class ConnectWait {
  private final EventLoop loop;
  private final InetSocketAddress worker;
  private final TcpSettings settings;
  private ConnectGate.@Nullable Turn turn;
  private @Nullable Future<?> timer;

  ConnectWait(EventLoop loop, InetSocketAddress worker, TcpSettings settings) {
    this.loop = loop;
    this.worker = worker;
    this.settings = settings;
  }

  /**
   * Waits for the turn.
   *
   * @param dial run on the event loop when the turn has come
   * @param refused called instead of it, on the event loop, when it does not come
   */
  void begin(ConnectGate gate, Runnable dial, Consumer<DynamoException> refused) {
    var entered =
        gate.enter(
            worker,
            () ->
                loop.execute(
                    () -> {
                      end();
                      dial.run();
                    }));
    if (entered == null) {
      refused.accept(
          new OverloadedException(
              "%d connections wait for their turn to be established; raise dynamo.request.tcp.max-connecting, or see why workers do not answer"
                  .formatted(gate.waiting())));
      return;
    }
    turn = entered;
    timer =
        loop.schedule(
            () -> expire(entered, refused),
            settings.timeouts().connect().toNanos(),
            TimeUnit.NANOSECONDS);
  }

  private void expire(ConnectGate.Turn waited, Consumer<DynamoException> refused) {
    boolean isWorkersFault = waited.isBehindItsWorker();
    if (waited.withdraw()) {
      refused.accept(isWorkersFault ? lost() : full());
    }
  }

  private WorkerLostException lost() {
    return new WorkerLostException(
        ErrorCode.CANNOT_CONNECT,
        "cannot connect to worker %s: others have tried for dynamo.request.tcp.connect-timeout of %s"
            .formatted(worker, settings.timeouts().connect()));
  }

  private OverloadedException full() {
    return new OverloadedException(
        "a connection to worker %s has waited for dynamo.request.tcp.connect-timeout of %s behind %d others; raise dynamo.request.tcp.max-connecting, or see why workers do not answer"
            .formatted(worker, settings.timeouts().connect(), settings.pool().maxConnecting()));
  }

  /** Gives up the turn if it has not come. Idempotent. */
  void end() {
    if (timer != null) {
      timer.cancel(false);
    }
    if (turn != null) {
      boolean _ = turn.withdraw();
    }
  }
}
