package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.natives.NativeNixl;
import io.dynamo.natives.NativeStatus;
import io.dynamo.transfer.nixl.Device;
import io.dynamo.transfer.nixl.NixlAgent;
import io.dynamo.transfer.nixl.NixlCommand;
import io.dynamo.transfer.nixl.NixlException;
import io.dynamo.transfer.nixl.NixlException.Reason;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * An agent of the native library: a thread there calls NIXL, and a daemon thread of this agent ends
 * commands as their events come. Safe for concurrent use.
 */
final class NativeNixlAgent implements NixlAgent {
  private static final System.Logger LOG = System.getLogger(NativeNixlAgent.class.getName());
  private static final long LOOK_NANOS = Duration.ofSeconds(1).toNanos(); // re-checks that often
  private static final long END_NANOS = Duration.ofSeconds(10).toNanos();
  private static final Duration POLLER_END = Duration.ofSeconds(5);

  /** How the end of a command becomes its result. */
  private sealed interface Pending {
    NixlCommand<?> command();

    record OfNumber(NixlCommand<Long> command) implements Pending {}

    record OfText(NixlCommand<String> command) implements Pending {}

    record OfBytes(NixlCommand<byte[]> command) implements Pending {}
  }

  private final String name;
  private final long handle;
  private final AtomicLong nextTicket = new AtomicLong(NativeNixl.OPEN_TICKET + 1);
  private final Map<Long, Pending> running = new ConcurrentHashMap<>(); // by ticket
  private final NixlCommand<String> ready;
  private final Thread poller;
  private volatile @Nullable NixlException absence; // why the agent was never ready
  private volatile boolean isClosing;

  /**
   * @param handle of the native agent, or a status
   */
  NativeNixlAgent(String name, long handle) {
    this.name = name;
    this.handle = handle;
    this.ready = command(NativeNixl.OPEN_TICKET);
    running.put(NativeNixl.OPEN_TICKET, new Pending.OfText(ready));
    this.poller = Thread.ofPlatform().daemon().name("nixl-events").unstarted(this::poll);
    if (handle < 0) {
      ended(NativeNixl.OPEN_TICKET, NativeStatus.of(handle), 0, 0, "no agent could be opened");
    } else {
      try {
        poller.start();
      } catch (Error noThread) {
        NativeNixl.close(handle, END_NANOS);
        NativeNixl.forget(handle);
        throw noThread;
      }
    }
  }

  @Override
  public NixlCommand<String> ready() {
    return ready;
  }

  @Override
  public NixlCommand<Long> register(long address, long byteSize, Device device) {
    return number(
        ticket ->
            NativeNixl.register(
                handle, ticket, device.kind().memory(), address, byteSize, device.id()));
  }

  @Override
  public NixlCommand<Long> deregister(long registration) {
    return number(ticket -> NativeNixl.deregister(handle, ticket, registration));
  }

  @Override
  public NixlCommand<byte[]> metadata() {
    long ticket = nextTicket.getAndIncrement();
    NixlCommand<byte[]> command = command(ticket);
    submit(new Pending.OfBytes(command), ticket, _ -> NativeNixl.metadata(handle, ticket));
    return command;
  }

  @Override
  public NixlCommand<String> watch(byte[] key, Deadline deadline) {
    long ticket = nextTicket.getAndIncrement();
    NixlCommand<String> command = command(ticket);
    submit(
        new Pending.OfText(command),
        ticket,
        _ -> NativeNixl.watch(handle, ticket, key, nanos(deadline)));
    return command;
  }

  @Override
  public NixlCommand<Long> transfer(Order order) {
    if (order.pieces().size() > NativeNixl.MAX_PIECES) {
      throw new IllegalArgumentException("more than %d pieces".formatted(NativeNixl.MAX_PIECES));
    }
    var flat = new long[order.pieces().size() * NativeNixl.PIECE_LONGS];
    int at = 0;
    for (var piece : order.pieces()) {
      flat[at++] = piece.registration();
      flat[at++] = piece.address();
      flat[at++] = piece.byteSize();
      flat[at++] = piece.remote();
      flat[at++] = piece.remoteDevice();
    }
    return number(
        ticket ->
            NativeNixl.transfer(
                handle,
                ticket,
                order.isWrite(),
                order.remoteMemory(),
                flat,
                order.peerMetadata(),
                order.notification(),
                nanos(order.deadline())));
  }

  private static long nanos(Deadline deadline) {
    return deadline.nanoTime() == 0 ? 1 : deadline.nanoTime(); // 0 stands for none
  }

  private NixlCommand<Long> number(ToIntFunction<Long> call) {
    long ticket = nextTicket.getAndIncrement();
    NixlCommand<Long> command = command(ticket);
    submit(new Pending.OfNumber(command), ticket, call);
    return command;
  }

  private <T> NixlCommand<T> command(long ticket) {
    return new NixlCommand<>(
        () -> NativeNixl.phase(handle, ticket), () -> NativeNixl.cancel(handle, ticket));
  }

  private void submit(Pending pending, long ticket, ToIntFunction<Long> call) {
    running.put(ticket, pending); // before its event can come
    var status = NativeStatus.BACKEND;
    try {
      status = NativeStatus.of(call.applyAsInt(ticket));
    } finally {
      refuse(ticket, status);
    }
  }

  private void refuse(long ticket, NativeStatus status) {
    if (status == NativeStatus.STALE && !isClosing) {
      // it could not be opened, and the event that says why is on its way
      var _ = ready.outcome().whenComplete((_, _) -> ended(ticket, status, 0, 0, ""));
    } else if (status != NativeStatus.OK) {
      ended(ticket, status, 0, 0, "");
    }
  }

  private void poll() {
    var numbers = new long[NativeNixl.EVENT_LONGS];
    try {
      while (true) {
        var text = NativeNixl.await(handle, LOOK_NANOS, numbers);
        var status = NativeStatus.of(numbers[1]);
        if (text != null) {
          ended(numbers[0], status, numbers[2], numbers[3], text);
        } else if (status != NativeStatus.TIMEOUT) {
          break; // closed, and nothing left
        }
      }
    } catch (RuntimeException | Error failure) {
      LOG.log(Level.ERROR, "the thread of NIXL events failed", failure);
      NativeNixl.close(handle, 0);
    } finally {
      isClosing = true;
      running.keySet().forEach(ticket -> ended(ticket, NativeStatus.CANCELLED, 0, 0, ""));
    }
  }

  private void ended(long ticket, NativeStatus status, long code, long number, byte[] text) {
    var pending = running.remove(ticket);
    if (pending == null) {
      return;
    }
    if (status != NativeStatus.OK) {
      fail(ticket, pending, status, code, new String(text, StandardCharsets.UTF_8));
      return;
    }
    switch (pending) {
      case Pending.OfNumber of -> of.command.complete(number);
      case Pending.OfText of -> of.command.complete(new String(text, StandardCharsets.UTF_8));
      case Pending.OfBytes of -> of.command.complete(text);
    }
  }

  private void ended(long ticket, NativeStatus status, long code, long number, String text) {
    ended(ticket, status, code, number, text.getBytes(StandardCharsets.UTF_8));
  }

  private void fail(long ticket, Pending pending, NativeStatus status, long code, String text) {
    if (ticket == NativeNixl.OPEN_TICKET) {
      absence = new NixlException(isClosing ? Reason.CLOSED : Reason.ABSENT, absent(status, text));
    }
    var known = absence;
    pending
        .command()
        .fail(
            known != null ? known : new NixlException(reason(status), message(status, code, text)));
  }

  private static String absent(NativeStatus status, String text) {
    return status == NativeStatus.IO
        ? "NIXL is not here: %s; install the package nixl, or name its libnixl_capi.so in"
                .formatted(text)
            + " dynamo.transfer.nixl.library"
        : "no agent of NIXL could be opened (%s): %s".formatted(status, text.strip());
  }

  private Reason reason(NativeStatus status) {
    return switch (status) {
      case CANCELLED -> isClosing ? Reason.CLOSED : Reason.CANCELLED;
      case INVALID, RANGE -> Reason.REFUSED;
      case STALE -> Reason.CLOSED;
      case PEER_LOST -> Reason.PEER_LOST;
      case TIMEOUT -> Reason.EXPIRED;
      case NO_MEMORY, BUSY -> Reason.BUSY;
      case CORRUPT -> Reason.CORRUPT;
      case OK, BACKEND, IO, AUTH, UNSUPPORTED, DEVICE_LOST -> Reason.BACKEND;
    };
  }

  private String message(NativeStatus status, long code, String text) {
    return switch (status) {
      case CANCELLED -> isClosing ? "agent " + name + " was closed" : "the operation was cancelled";
      case TIMEOUT -> "the time of the operation passed before its end";
      case BUSY -> "%d commands run already".formatted(NativeNixl.MAX_COMMANDS);
      case NO_MEMORY -> "no memory for the library's own lists";
      case STALE -> text.isEmpty() ? "agent " + name + " is closed" : text;
      case PEER_LOST, CORRUPT -> "%s (NIXL answers %d)".formatted(text, code);
      case INVALID, RANGE -> text.isEmpty() ? "refused by the native library" : text;
      case OK, BACKEND, IO, AUTH, UNSUPPORTED, DEVICE_LOST ->
          "%s (NIXL answers %d; its log may say more)".formatted(text, code);
    };
  }

  @Override
  public boolean end() {
    isClosing = true;
    if (handle < 0) {
      return true;
    }
    boolean isOver = NativeStatus.of(NativeNixl.close(handle, END_NANOS)) == NativeStatus.OK;
    boolean interrupted = false;
    try {
      if (isOver && !poller.equals(Thread.currentThread()) && !poller.join(POLLER_END)) {
        LOG.log(Level.WARNING, "the thread of NIXL events has not ended in time");
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (isOver) {
      NativeNixl.forget(handle);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return isOver;
  }
}
