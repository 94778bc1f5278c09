package io.dynamo.request.load;

import io.dynamo.pipeline.EventLoops;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** The ceiling: the same connections and bytes, Netty alone. */
final class PlainNetty {
  private static final int FRAME_BYTES = 162; // a token item of ours on the wire
  private static final int FLUSH_AFTER_WRITES = 64;

  static void worker() throws Exception {
    try (var loops = new EventLoops(0)) {
      var listener =
          loops.listen(new InetSocketAddress("127.0.0.1", 0), pipeline(Requests::new, loops));
      System.out.println(((InetSocketAddress) listener.localAddress()).getPort());
      Child.answer(command -> "");
    }
  }

  private interface Handlers {
    ChannelInboundHandlerAdapter make(EventLoops loops);
  }

  private static ChannelInitializer<Channel> pipeline(Handlers handlers, EventLoops loops) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        channel
            .pipeline()
            .addLast(
                new FlushConsolidationHandler(FLUSH_AFTER_WRITES, true),
                new LengthFieldBasedFrameDecoder(1 << 20, 0, 4),
                handlers.make(loops));
      }
    };
  }

  /**
   * Takes {@code port, subject, items}; acknowledges; answers on the same connection (port 0) or
   * calls home.
   */
  private static final class Requests extends ChannelInboundHandlerAdapter {
    private final EventLoops loops;

    Requests(EventLoops loops) {
      this.loops = loops;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      var frame = (ByteBuf) message;
      int port = frame.getInt(4);
      int subject = frame.getInt(8);
      int items = frame.getInt(12);
      frame.release();
      if (port == 0) {
        new Pump(ctx.channel(), items).more(OurPlane.WINDOW);
        return;
      }
      ctx.writeAndFlush(ctx.alloc().buffer(4).writeInt(0));
      loops
          .connect(
              loops.next(),
              new InetSocketAddress("127.0.0.1", port),
              OurPlane.PATIENCE,
              pipeline(
                  _ ->
                      new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext home) {
                          home.write(home.alloc().buffer(8).writeInt(4).writeInt(subject));
                          new Pump(home.channel(), items).more(OurPlane.WINDOW);
                        }

                        @Override
                        public void userEventTriggered(ChannelHandlerContext home, Object event) {
                          home.close();
                        }
                      },
                  loops))
          .addListener(connected -> {});
    }
  }

  /** Writes frames, a window ahead of the socket, as ours does. */
  private static final class Pump {
    private final Channel to;
    private final int items;
    private int made;
    private int written;

    Pump(Channel to, int items) {
      this.to = to;
      this.items = items;
    }

    void more(int count) {
      for (int i = 0; i < count && made < items; i++) {
        made++;
        to.writeAndFlush(
                to.alloc().buffer(FRAME_BYTES).writeInt(FRAME_BYTES - 4).writeZero(FRAME_BYTES - 4))
            .addListener(
                _ -> {
                  if (++written > OurPlane.WINDOW / 2) {
                    int again = written;
                    written = 0;
                    more(again);
                  }
                });
      }
    }
  }

  static void client(int worker) throws Exception {
    try (var loops = new EventLoops(0)) {
      var waiting = new ConcurrentHashMap<Integer, Answer>();
      var homes =
          loops.listen(
              new InetSocketAddress("127.0.0.1", 0), pipeline(_ -> new Home(waiting), loops));
      int home = ((InetSocketAddress) homes.localAddress()).getPort();
      var kept = new ArrayList<Channel>(); // for requests, and for answers on the same connection
      var subjects = new AtomicInteger();
      var pool = new ArrayList<Channel>();
      Child.answer(
          command -> {
            var words = command.split(" "); // run dial|kept ITEMS STREAMS MILLIS
            boolean dial = words[1].equals("dial");
            int items = Integer.parseInt(words[2]);
            int streams = Integer.parseInt(words[3]);
            var from = dial ? pool : kept;
            while (from.size() < (dial ? Math.min(8, streams) : streams)) {
              from.add(
                  loops
                      .connect(
                          loops.next(),
                          new InetSocketAddress("127.0.0.1", worker),
                          OurPlane.PATIENCE,
                          pipeline(_ -> new Home(null), loops))
                      .sync()
                      .channel());
            }
            var turn = new AtomicInteger();
            return Load.run(
                streams,
                Integer.parseInt(words[4]),
                (counter, next) -> {
                  int subject = subjects.incrementAndGet();
                  Channel to;
                  if (dial) {
                    waiting.put(subject, new Answer(items, counter, next));
                    to = from.get(turn.getAndIncrement() % from.size());
                  } else {
                    var mine =
                        OWN.computeIfAbsent(
                            next, _ -> from.get(turn.getAndIncrement() % from.size()));
                    ((Home) mine.pipeline().last()).expect(new Answer(items, counter, next));
                    to = mine;
                  }
                  to.writeAndFlush(
                      to.alloc()
                          .buffer(16)
                          .writeInt(12)
                          .writeInt(dial ? home : 0)
                          .writeInt(subject)
                          .writeInt(items));
                });
          });
    }
  }

  private static final Map<Load.Next, Channel> OWN = new ConcurrentHashMap<>();

  private record Answer(int items, LongAdder counter, Load.Next next) {}

  private static final class Home extends ChannelInboundHandlerAdapter {
    private final Map<Integer, Answer> waiting;
    private volatile Answer answer;
    private int heard;

    Home(Map<Integer, Answer> waiting) {
      this.waiting = waiting;
    }

    void expect(Answer next) {
      heard = 0;
      answer = next;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      var frame = (ByteBuf) message;
      int length = frame.readableBytes();
      int first = length >= 8 ? frame.getInt(4) : 0;
      frame.release();
      if (length <= 4) {
        return; // an acknowledgement
      }
      if (waiting != null && answer == null) {
        answer = waiting.remove(first);
        return;
      }
      var to = answer;
      to.counter().increment();
      if (++heard == to.items()) {
        if (waiting != null) {
          ctx.close();
        }
        to.next().ended(null);
      }
    }
  }
}
