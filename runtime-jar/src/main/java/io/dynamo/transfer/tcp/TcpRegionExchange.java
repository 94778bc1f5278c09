package io.dynamo.transfer.tcp;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.config.plane.TransferSettings;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.pipeline.ConnectionLimit;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.Sockets;
import io.dynamo.request.tcp.PlaneTls;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.tcp.RegionCaller.Order;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Regions over TCP: one listener, bound with the first export, and one connection for each
 * transfer. Every piece is checksummed, and each written one acknowledged. Safe for concurrent use.
 */
public final class TcpRegionExchange implements RegionExchange {
  private static final System.Logger LOG = System.getLogger(TcpRegionExchange.class.getName());
  private static final String DEADLINE_PASSED = "the deadline of the transfer passed";
  private static final long CLOSE_MILLIS = 2_000;
  private static final Duration SILENCE = Duration.ofSeconds(10);
  private static final int LOW_WATER_BYTES = 512 * 1024;
  private static final int HIGH_WATER_BYTES = 2 * 1024 * 1024;
  private static final int ANSWERS_LOW_BYTES = 128 * 1024; // of a peer that reads
  private static final int ANSWERS_HIGH_BYTES = 512 * 1024;
  private static final long MOST_ANSWER_BYTES = 64L << 20; // of all such peers

  private final TcpSettings tcp;
  private final TransferSettings settings;
  private final EventLoops loops;
  private final Leases leases = new Leases(System::nanoTime);
  private final AnswerBudget answers = new AnswerBudget(MOST_ANSWER_BYTES);
  private final ConnectionLimit connections;
  private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
  private final Object securing = new Object();
  private @Nullable PlaneTls tls; // guarded by securing: event loops do not wait for a bind
  private @Nullable Channel listener; // guarded by this
  private volatile boolean closed; // written under this

  /** Opens nothing yet. */
  public TcpRegionExchange(TcpSettings tcp, TransferSettings settings, EventLoops loops) {
    this.tcp = tcp;
    this.settings = settings;
    this.loops = loops;
    this.connections =
        new ConnectionLimit(
            Leases.MOST,
            () ->
                LOG.log(
                    Level.WARNING,
                    "more than {0} connections for regions; the latest is closed",
                    Leases.MOST));
  }

  private PlaneTls tls() {
    synchronized (securing) {
      requireOpen();
      var known = tls;
      if (known == null) {
        known = PlaneTls.of(tcp.tls());
        tls = known;
      }
      return known;
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the exchange of regions is closed");
    }
  }

  private synchronized InetSocketAddress listen() {
    var accepting = tls().accepting();
    requireOpen();
    var bound = listener;
    if (bound == null) {
      bound =
          loops.listen(
              new InetSocketAddress(InetAddress.ofLiteral(tcp.host()), settings.port()),
              new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                  if (!connections.admits(channel)) {
                    return;
                  }
                  open.add(channel);
                  channel
                      .config()
                      .setWriteBufferWaterMark(
                          new WriteBufferWaterMark(ANSWERS_LOW_BYTES, ANSWERS_HIGH_BYTES));
                  channel.pipeline().addLast(new RegionOwner(leases, answers, SILENCE));
                  if (accepting != null) {
                    accepting.secure(channel, null);
                  }
                }
              });
      listener = bound;
    }
    return (InetSocketAddress) bound.localAddress();
  }

  @Override
  public Export export(Region region, Permission permission, Duration time) {
    var bound = listen();
    var lease = leases.lend(region, permission, time);
    var address =
        new RegionAddress(
            bound.getAddress().getHostAddress(),
            bound.getPort(),
            lease.id(),
            lease.secret(),
            region.byteSize(),
            permission);
    return new Export() {
      @Override
      public RegionAddress address() {
        return address;
      }

      @Override
      public void close() {
        lease.end();
      }
    };
  }

  @Override
  public Transfer write(Region source, Range range, RegionAddress to, Deadline deadline) {
    if (!range.isWithin(source.byteSize(), to.byteSize())) {
      throw range.outside(source.byteSize(), to.byteSize());
    }
    return to.permission() == Permission.WRITE
        ? call(to, deadline, transfer -> new RegionWriter(new Order(source, range, to), transfer))
        : failed(to.denied());
  }

  @Override
  public Transfer read(RegionAddress from, Range range, Region target, Deadline deadline) {
    if (!range.isWithin(from.byteSize(), target.byteSize())) {
      throw range.outside(from.byteSize(), target.byteSize());
    }
    return from.permission() == Permission.READ
        ? call(from, deadline, given -> new RegionReader(new Order(target, range, from), given))
        : failed(from.denied());
  }

  private static Transfer failed(RuntimeException why) {
    var transfer = new Transfer(() -> {});
    transfer.fail(why);
    return transfer;
  }

  private Transfer call(
      RegionAddress to, Deadline deadline, Function<Transfer, RegionCaller> caller) {
    var connecting = tls().connecting();
    if (deadline.isExpired()) { // the timer below may be later than the first bytes
      return failed(new DeadlineExceededException(DEADLINE_PASSED));
    }
    var peer = new InetSocketAddress(InetAddress.ofLiteral(to.host()), to.port());
    var running = new Connection();
    var transfer = new Transfer(() -> running.end(new CancelledException("it was cancelled")));
    running.transfer = transfer;
    var handler = caller.apply(transfer);
    var loop = loops.next();
    var connected =
        loops.connect(
            loop,
            peer,
            tcp.timeouts().connect(),
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                open.add(channel);
                channel
                    .config()
                    .setWriteBufferWaterMark(
                        new WriteBufferWaterMark(LOW_WATER_BYTES, HIGH_WATER_BYTES));
                channel.pipeline().addLast(handler);
                if (connecting != null) {
                  connecting.secure(channel, peer);
                }
              }
            });
    running.channel = connected.channel();
    Future<?> timer;
    try {
      timer =
          loop.schedule(
              () -> running.end(new DeadlineExceededException(DEADLINE_PASSED)),
              Math.max(0, deadline.remainingNanos()),
              TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException stopped) {
      var failure = new IllegalStateException("the event loops are closed", stopped);
      running.end(failure); // without a deadline it must not run
      throw failure;
    }
    connected.addListener(
        (ChannelFuture done) -> {
          if (!done.isSuccess()) {
            running.fail(
                new TransferFailedException(
                    Reason.PEER_LOST, "cannot reach the %s".formatted(to), done.cause()));
          }
        });
    var _ = transfer.outcome().whenComplete((_, _) -> timer.cancel(false));
    return transfer;
  }

  /**
   * A transfer's connection, which may be ended before it is there. The transfer ends once the
   * connection is closed: until then the event loop may still use the region.
   */
  private static final class Connection {
    private volatile @Nullable Channel channel;
    private volatile @Nullable Transfer transfer;
    private final AtomicReference<@Nullable RuntimeException> reason = new AtomicReference<>();

    void end(RuntimeException why) {
      reason.compareAndSet(null, why);
      var closing = channel;
      if (closing == null) {
        fail(why);
        return;
      }
      closing.closeFuture().addListener(_ -> fail(why));
      Sockets.close(closing);
    }

    /**
     * Fails the transfer for the reason that its connection was ended for, else for {@code why}.
     */
    void fail(RuntimeException why) {
      var failing = transfer;
      var first = reason.get();
      if (failing != null) {
        failing.fail(first == null ? why : first);
      }
    }
  }

  /** Returns how many leases run. */
  public int leases() {
    return leases.size();
  }

  @Override
  public void close() {
    Channel bound;
    PlaneTls used;
    synchronized (this) {
      closed = true;
      bound = listener;
    }
    synchronized (securing) {
      used = tls;
    }
    leases.endAll();
    if (bound != null) {
      bound.close().awaitUninterruptibly(CLOSE_MILLIS);
    }
    open.close().awaitUninterruptibly(CLOSE_MILLIS);
    if (used != null) {
      used.close();
    }
  }
}
