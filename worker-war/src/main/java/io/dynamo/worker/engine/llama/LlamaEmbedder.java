package io.dynamo.worker.engine.llama;

import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.request.RequestContext;
import io.dynamo.transfer.HostMemory;
import io.dynamo.worker.engine.EmbeddingDescription;
import io.dynamo.worker.engine.EmbeddingEngine;
import io.dynamo.worker.engine.Pacer;
import io.dynamo.worker.engine.TokenStream;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Embeds with the weights of a Llama model: the states of its last layer after the final norm,
 * pooled. It has a thread and KV blocks of its own, beside those of a {@link LlamaEngine} with the
 * same weights. Safe for concurrent use.
 *
 * <p>The same prompt gives the same bits, independent of other prompts and of how it was cut into
 * passes.
 */
public final class LlamaEmbedder implements EmbeddingEngine {
  private final LlamaEmbedderConfig config;
  private final LlamaModel model;
  private final HostMemory memory;
  private final Pacer pacer;
  private final EmbeddingDescription description;
  private volatile @Nullable EmbeddingRank rank; // set by start
  private volatile boolean closed; // written under this

  /**
   * @param memory allocates the memory of the blocks
   * @param pacer drives the rank
   */
  public LlamaEmbedder(
      LlamaEmbedderConfig config, LlamaModel model, HostMemory memory, Pacer pacer) {
    this.config = config;
    this.model = model;
    this.memory = memory;
    this.pacer = pacer;
    var shape = model.weights().shape();
    long held = (long) config.blocks() * config.blockTokens();
    this.description =
        new EmbeddingDescription(
            (int) Math.min(shape.contextLength(), held), shape.vocabulary(), shape.hidden());
  }

  @Override
  public synchronized EmbeddingDescription start() {
    if (rank != null || closed) {
      throw new IllegalStateException("an engine starts once");
    }
    var made = make();
    made.start(pacer);
    rank = made;
    return description;
  }

  private EmbeddingRank make() {
    var shape = model.weights().shape();
    long blockBytes = KvStore.blockBytes(shape, config.blockTokens());
    var region = memory.allocate(Math.multiplyExact(config.blocks(), blockBytes));
    KvStore store;
    try {
      store = new KvStore(region, shape, config.blockTokens());
    } catch (RuntimeException | Error failure) {
      region.close();
      throw failure;
    }
    try {
      var pass =
          new LlamaForwardPass(
              model.weights(),
              new Rotation(shape, description.contextLength()),
              store,
              config.blockTokens(),
              config.passTokens());
      return new EmbeddingRank(config, pass, store, shape.hidden());
    } catch (RuntimeException | Error failure) {
      store.close();
      throw failure;
    }
  }

  @Override
  public Flow.Publisher<EmbeddingOutput> embed(EmbeddingRequest request, RequestContext context) {
    var to = rank;
    if (to == null || closed) {
      throw closed
          ? TokenStream.shutDown()
          : new IllegalStateException("the engine was not started");
    }
    var batch = new EmbeddingBatch(request, description.prompts(request), context, to::wake);
    batch.follow();
    try {
      to.submit(batch);
    } catch (RuntimeException refused) {
      batch.unfollow();
      throw refused;
    }
    return batch.stream;
  }

  @Override
  public int running() {
    var at = rank;
    return at == null ? 0 : at.live();
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    var at = rank;
    if (at != null) {
      at.close();
    }
  }
}
