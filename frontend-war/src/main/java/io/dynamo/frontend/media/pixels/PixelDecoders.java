package io.dynamo.frontend.media.pixels;

import io.dynamo.concurrent.Deadline;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decodes images into a {@link PixelPool} on a few threads of its own. Nobody waits long: an image
 * that finds no thread or no memory, or takes too long, is not decoded. Safe for concurrent use;
 * callers block.
 */
public final class PixelDecoders implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(PixelDecoders.class.getName());
  private static final int MOST_WAITING = 64;
  private static final Duration IDLE = Duration.ofSeconds(30);

  /**
   * The bounds of decoding.
   *
   * @param threads that decode
   * @param heldBytes of memory that each may take beside the file and the result
   * @param patience with all images of a request, from their arrival to the last pixel
   */
  public record Bounds(int threads, long heldBytes, Duration patience) {
    private static final int MOST_THREADS = 4;
    private static final int HEAP_PART = 32;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** The bounds of a machine: a quarter of its processors, a part of the heap. */
    public static Bounds of(int processors, long heapBytes) {
      int threads = Math.clamp(processors / 4, 1, MOST_THREADS);
      return new Bounds(threads, heapBytes / HEAP_PART / threads, PATIENCE);
    }
  }

  private final PixelPool pool;
  private final Bounds bounds;
  private final ThreadPoolExecutor threads;
  private final AtomicBoolean warned = new AtomicBoolean();

  /**
   * @param pool closed with the decoders
   */
  public PixelDecoders(PixelPool pool, Bounds bounds) {
    this.pool = pool;
    this.bounds = bounds;
    this.threads =
        new ThreadPoolExecutor(
            bounds.threads,
            bounds.threads,
            IDLE.toSeconds(),
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MOST_WAITING),
            work -> {
              var thread = Thread.ofPlatform().daemon().name("image-decoder").unstarted(work);
              thread.setContextClassLoader(
                  ClassLoader.getPlatformClassLoader()); // the JDK keeps it
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /** The work on one image, which can be left; then the file is not kept either. */
  private final class Work implements Runnable {
    private final CompletableFuture<@Nullable DecodedImage> result = new CompletableFuture<>();
    private volatile @Nullable ImageFile image; // null once it is left

    Work(ImageFile image) {
      this.image = image;
    }

    @Override
    public void run() {
      DecodedImage decoded = null;
      try {
        var file = image;
        if (file != null) {
          decoded = decoded(file, result::isDone);
        }
      } catch (DamagedImageException | RuntimeException | Error e) {
        result.completeExceptionally(e);
      }
      if (!result.complete(decoded)) {
        drop(decoded);
      }
    }

    /** Ends the work, and what it may have come to already. */
    void leave() {
      image = null;
      if (!result.cancel(false)) {
        var _ = result.thenAccept(PixelDecoders::drop);
      }
    }
  }

  /** When a request that begins now goes on without the images that are not decoded. */
  public Deadline deadline(Deadline ofRequest) {
    return ofRequest.within(bounds.patience);
  }

  /**
   * Decodes an image whose size was checked.
   *
   * @param type the media type by its first bytes
   * @param deadline of {@link #deadline}
   * @return to be closed; null when the image is not decoded, for whatever reason but damage
   * @throws DamagedImageException when the file is damaged
   */
  public @Nullable DecodedImage decode(
      byte[] file, String type, int width, int height, Deadline deadline)
      throws DamagedImageException, InterruptedException {
    if (deadline.isExpired() || !pool.mayHold((long) ImageFile.CHANNELS * width * height)) {
      return null;
    }
    var image = ImageFile.of(file, type, width, height);
    return image == null || image.heldBytes() > bounds.heldBytes
        ? null
        : decode(new Work(image), deadline);
  }

  private @Nullable DecodedImage decode(Work work, Deadline limit)
      throws DamagedImageException, InterruptedException {
    try {
      threads.execute(work);
      return work.result.get(Math.max(0, limit.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException | TimeoutException | CancellationException _) {
      leave(work);
      return null;
    } catch (InterruptedException e) {
      leave(work);
      throw e;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof DamagedImageException damage) {
        throw damage;
      }
      warn(e.getCause()); // no memory, or a JDK without its decoders
      return null;
    }
  }

  private void leave(Work work) {
    threads.remove(work);
    work.leave();
  }

  private void warn(@Nullable Throwable cause) {
    if (warned.compareAndSet(false, true)) {
      LOG.log(
          Level.WARNING,
          "an image could not be decoded and goes to the worker as it is, as others may; later"
              + " failures are not logged",
          cause);
    }
  }

  private static void drop(@Nullable DecodedImage image) {
    if (image != null) {
      image.close();
    }
  }

  private @Nullable DecodedImage decoded(ImageFile image, BooleanSupplier stop)
      throws DamagedImageException {
    var slot = pool.take(image.pixelBytes());
    if (slot == null) {
      return null;
    }
    boolean isWhole = false;
    try {
      isWhole = image.decode(slot.memory(), stop);
    } finally {
      if (!isWhole) {
        slot.close();
      }
    }
    return isWhole ? new DecodedImage(slot, image.format(), image.width(), image.height()) : null;
  }

  /** Returns the bytes of images that workers can read. */
  public long heldBytes() {
    return pool.heldBytes();
  }

  @Override
  public void close() {
    for (var work : threads.shutdownNow()) {
      ((Work) work).leave();
    }
    pool.close();
  }
}
