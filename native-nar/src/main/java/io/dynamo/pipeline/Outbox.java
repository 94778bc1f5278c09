package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The queue of frames and tasks that wait to be written to one channel. Frames that are added
 * before the event loop processes them are sent together: one task, one buffer and one flush for
 * many; no frame waits for others to be added. Frames and tasks keep their order. Filled by any
 * thread, emptied on the event loop. It has no bound of its own: senders limit themselves by {@link
 * Owner#written}.
 */
public final class Outbox {
  /**
   * Decides whether frames are still written, and receives the results. Called on the event loop.
   */
  public interface Owner {
    /** Whether frames are still written; if not they are dropped. */
    boolean isOpen();

    /**
     * Called when one write has succeeded.
     *
     * @param items number of items written to the kernel, perhaps none
     */
    void written(int items);

    /** Called when a write has failed. */
    void failed();
  }

  /** The most bytes of frames gathered in one buffer; a longer frame has its own. */
  static final int CHUNK_BYTES = 8 * 1024;

  private static final System.Logger LOG = System.getLogger(Outbox.class.getName());
  private static final int FIRST_BYTES = 512;
  private static final byte[] NONE = {};
  private static final ByteBuffer NO_BODY = ByteBuffer.allocate(0);

  private final Channel channel;
  private final Owner owner;
  private final Runnable empty = this::empty;
  private @Nullable ByteBuf gathered; // frames to be sent together; guarded by this
  private int items; // in gathered; guarded by this
  private int expected = FIRST_BYTES; // bytes to gather: as many as last time; guarded by this
  private @Nullable Step first; // the first queued step; guarded by this
  private @Nullable Step last; // the last queued step; guarded by this
  private boolean due; // guarded by this: the task is on the loop's queue

  public Outbox(Channel channel, Owner owner) {
    this.channel = channel;
    this.owner = owner;
  }

  /** A step to run on the event loop, after all earlier ones. */
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
  public void header(byte[] header) {
    add(header, NONE, NO_BODY, NONE, 0);
  }

  /**
   * Adds an item: a frame without a header. All parts are copied.
   *
   * @param item backed by an array
   */
  public void item(byte[] head, ByteBuffer item, byte[] tail) {
    add(NONE, head, item, tail, 1);
  }

  private void add(byte[] header, byte[] head, ByteBuffer body, byte[] tail, int count) {
    int bodyBytes = Math.addExact(head.length + tail.length, body.remaining());
    int bytes = Math.addExact(TwoPartFrame.PREFIX_BYTES + header.length, bodyBytes);
    boolean idle;
    synchronized (this) {
      var to = room(bytes);
      to.writeLong(header.length).writeLong(bodyBytes).writeLong(0);
      to.writeBytes(header).writeBytes(head);
      to.writeBytes(body.array(), body.arrayOffset() + body.position(), body.remaining());
      to.writeBytes(tail);
      items += count;
      idle = !due;
      due = true;
    }
    if (idle) {
      channel.eventLoop().execute(empty);
    }
  }

  /**
   * Returns a buffer with room for {@code bytes} more: the gathered frames if they fit, else a new
   * one.
   */
  private ByteBuf room(int bytes) {
    var to = gathered;
    if (to != null && bytes <= to.maxWritableBytes()) {
      return to;
    }
    seal();
    to = channel.alloc().buffer(Math.max(bytes, expected), Math.max(bytes, CHUNK_BYTES));
    gathered = to;
    return to;
  }

  /**
   * Runs {@code task} on the event loop after all that was added before, also when called on it:
   * otherwise it would overtake other threads.
   */
  public void then(Runnable task) {
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

  /** Processes only the steps queued so far, so that the loop's other channels have their turn. */
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
      } catch (RuntimeException e) { // the steps that follow must not be lost with it
        LOG.log(System.Logger.Level.ERROR, "a stream failed in what it had to do", e);
        owner.failed();
      }
    }
    channel.flush();
  }

  private void seal() {
    var bytes = gathered;
    if (bytes != null) {
      append(new Chunk(bytes, items));
      expected = Math.clamp(bytes.readableBytes(), FIRST_BYTES, CHUNK_BYTES);
      gathered = null;
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
}
