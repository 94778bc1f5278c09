package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be written to one channel. Frames that come before the event loop turns to them
 * leave together: one task, one buffer and one flush for many; none waits for others to come.
 * Frames and steps keep their order. Filled by any thread, emptied on the event loop. It has no
 * bound of its own: who fills it waits for {@link Owner#written}.
 */
final class Outbox {
  /** Decides what is still written, and hears what became of it. Called on the event loop. */
  interface Owner {
    /** Whether frames are still written; if not they are dropped. */
    boolean isOpen();

    /** So many items are with the kernel, perhaps none: one write has succeeded. */
    void written(int items);

    /** A write has failed. */
    void failed();
  }

  /** Frames gathered in one buffer are at most this long; a longer one has its own. */
  static final int CHUNK_BYTES = 8 * 1024;

  private static final System.Logger LOG = System.getLogger(Outbox.class.getName());
  private static final int FIRST_BYTES = 512;
  private static final byte[] NONE = {};
  private static final ByteBuffer NO_BODY = ByteBuffer.allocate(0);

  private final Channel channel;
  private final Owner owner;
  private final Runnable empty = this::empty;
  private byte[] gathered = NONE; // guarded by this; used again
  private int length; // of what is gathered; guarded by this
  private int items; // in it; guarded by this
  private @Nullable Step first; // of what is complete; guarded by this
  private @Nullable Step last; // guarded by this
  private boolean due; // guarded by this: the task is on the loop's queue

  Outbox(Channel channel, Owner owner) {
    this.channel = channel;
    this.owner = owner;
  }

  /** Something to do on the event loop, after what came before it. */
  private abstract static class Step {
    private @Nullable Step next; // written under the outbox's lock

    abstract void run();
  }

  private static final class Task extends Step {
    private final Runnable task;

    Task(Runnable task) {
      this.task = task;
    }

    @Override
    void run() {
      task.run();
    }
  }

  private final class Chunk extends Step implements ChannelFutureListener {
    private final ByteBuf bytes;
    private final int items;

    Chunk(ByteBuf bytes, int items) {
      this.bytes = bytes;
      this.items = items;
    }

    @Override
    void run() {
      if (owner.isOpen()) {
        channel.write(bytes).addListener(this);
      } else {
        bytes.release();
      }
    }

    @Override
    public void operationComplete(ChannelFuture written) {
      if (written.isSuccess()) {
        owner.written(items);
      } else {
        owner.failed();
      }
    }
  }

  /** Adds a frame without a body. */
  void header(byte[] header) {
    add(header, NONE, NO_BODY, NONE, 0);
  }

  /** Adds a frame without a header: an item. All parts are copied. */
  void item(byte[] head, ByteBuffer item, byte[] tail) {
    add(NONE, head, item, tail, 1);
  }

  private void add(byte[] header, byte[] head, ByteBuffer body, byte[] tail, int count) {
    int bodyBytes = Math.addExact(head.length + tail.length, body.remaining());
    int bytes = Math.addExact(TwoPartFrame.PREFIX_BYTES + header.length, bodyBytes);
    ByteBuf own = null;
    if (bytes > CHUNK_BYTES) {
      own =
          TwoPartFrame.prefix(channel.alloc(), header.length, bodyBytes)
              .writeBytes(header)
              .writeBytes(head)
              .writeBytes(body.duplicate())
              .writeBytes(tail);
    }
    boolean idle;
    synchronized (this) {
      if (bytes > CHUNK_BYTES - length) {
        seal();
      }
      if (own != null) {
        append(new Chunk(own, count));
      } else {
        reserve(bytes);
        putLong(header.length);
        putLong(bodyBytes);
        putLong(0);
        put(header);
        put(head);
        body.get(body.position(), gathered, length, body.remaining());
        length += body.remaining();
        put(tail);
        items += count;
      }
      idle = !due;
      due = true;
    }
    if (idle) {
      channel.eventLoop().execute(empty);
    }
  }

  /**
   * Runs {@code task} on the event loop after what was added before, also when called there: else
   * it would overtake other threads.
   */
  void then(Runnable task) {
    boolean idle;
    synchronized (this) {
      seal();
      append(new Task(task));
      idle = !due;
      due = true;
    }
    if (idle) {
      channel.eventLoop().execute(empty);
    }
  }

  /** Takes all that is there and no more, so that the loop's other channels have their turn. */
  private void empty() {
    Step next;
    synchronized (this) {
      seal();
      next = first;
      first = null;
      last = null;
      due = false;
    }
    for (; next != null; next = next.next) {
      try {
        next.run();
      } catch (RuntimeException e) { // those that follow must not be lost with it
        LOG.log(System.Logger.Level.ERROR, "a stream failed in what it had to do", e);
        owner.failed();
      }
    }
    channel.flush();
  }

  private void seal() {
    if (length > 0) {
      var bytes = channel.alloc().buffer(length, length).writeBytes(gathered, 0, length);
      append(new Chunk(bytes, items));
      if (length < gathered.length / 4 && gathered.length > FIRST_BYTES) {
        gathered = NONE; // after a burst a slow stream holds little
      }
      length = 0;
      items = 0;
    }
  }

  private void append(Step step) {
    if (last == null) {
      first = step;
    } else {
      last.next = step;
    }
    last = step;
  }

  private void reserve(int more) {
    if (length + more > gathered.length) {
      int doubled = Math.max(Math.max(FIRST_BYTES, gathered.length * 2), length + more);
      gathered = Arrays.copyOf(gathered, Math.min(doubled, CHUNK_BYTES));
    }
  }

  private void putLong(long value) {
    for (int shift = Long.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      gathered[length++] = (byte) (value >>> shift);
    }
  }

  private void put(byte[] all) {
    System.arraycopy(all, 0, gathered, length, all.length);
    length += all.length;
  }
}
