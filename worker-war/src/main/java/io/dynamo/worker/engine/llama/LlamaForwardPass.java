package io.dynamo.worker.engine.llama;

import static io.dynamo.worker.engine.llama.math.KvReader.NUMBER;

import io.dynamo.worker.engine.llama.math.Kernel;
import io.dynamo.worker.engine.llama.math.KvReader;
import io.dynamo.worker.engine.llama.weights.LlamaShape;
import io.dynamo.worker.engine.llama.weights.LlamaWeights;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Computes rows of any mix of sequences, prompt chunks and single tokens. Used by one thread; its
 * scratch arrays are as large as the largest batch needs.
 *
 * <p>Invariant: a row's bits depend on the tokens before it in its sequence alone, never on its
 * batch, its chunk, or whether its keys and values came from the cache.
 */
final class LlamaForwardPass {
  /** The number of rows of logits computed at once. */
  private static final int LOGIT_ROWS = 32;

  /**
   * Consecutive rows of one sequence.
   *
   * @param blocks the sequence's blocks; those that the rows write are its own
   * @param tokens the sequence's tokens
   * @param from position of the first row
   * @param count number of rows
   * @param wantsLogits whether the last row's logits are requested
   */
  record Segment(int[] blocks, int[] tokens, int from, int count, boolean wantsLogits) {}

  /** Receives the results of a pass, in the order of the segments. */
  interface Sink {
    /**
     * @param logits holds the segment's logits from {@code at} on during the call; may be changed
     */
    void logits(int segment, float[] logits, int at);

    /** Called when a row of the segment is not finite: its numbers are meaningless. */
    void poisoned(int segment);
  }

  /** Receives the states of a pass, in the order of the rows. */
  interface StateSink {
    /**
     * @param position of the row in its sequence
     * @param states holds the row's state after the final norm from {@code at} on during the call
     */
    void state(int segment, int position, float[] states, int at);

    /** Called when a row of the segment is not finite: its numbers are meaningless. */
    void poisoned(int segment);
  }

  private final LlamaWeights model;
  private final LlamaShape shape;
  private final Kernel kernel;
  private final Rotation rotation;
  private final KvStore store;
  private final KvReader reader;
  private final int blockTokens;
  private final float[] state; // [rows][hidden]
  private final float[] normed; // [rows][hidden]
  private final float[] query; // [rows][heads * headDim]
  private final float[] key; // [rows][kvHeads * headDim]
  private final float[] value;
  private final float[] attended; // [rows][heads * headDim]
  private final float[] gate; // [rows][feedForward]
  private final float[] up;
  private final float[] logits; // [LOGIT_ROWS][vocabulary]
  private final float scale;
  private LlamaWeights weights; // of the current pass
  private float[] scores = new float[0]; // one per token of the longest sequence so far
  private long[] pieces = new long[0]; // offset of one layer of each of its blocks, in bytes

  LlamaForwardPass(
      LlamaWeights weights, Rotation rotation, KvStore store, int blockTokens, int maxRows) {
    this.model = weights;
    this.weights = weights;
    this.shape = weights.shape();
    this.kernel = weights.kernel();
    this.rotation = rotation;
    this.store = store;
    this.reader = kernel.reader(store.memory(), store.pieceFloats(), blockTokens, shape.headDim());
    this.blockTokens = blockTokens;
    this.state = new float[Math.multiplyExact(maxRows, shape.hidden())];
    this.normed = new float[state.length];
    this.query = new float[Math.multiplyExact(maxRows, shape.queryWidth())];
    this.key = new float[Math.multiplyExact(maxRows, shape.kvWidth())];
    this.value = new float[key.length];
    this.attended = new float[query.length];
    this.gate = new float[Math.multiplyExact(maxRows, shape.feedForward())];
    this.up = new float[gate.length];
    this.logits = new float[Math.multiplyExact(LOGIT_ROWS, shape.vocabulary())];
    this.scale = (float) (1 / Math.sqrt(shape.headDim()));
  }

  /**
   * Computes all segments, writes their keys and values, and passes the requested logits to {@code
   * sink}.
   */
  void run(List<Segment> segments, Sink sink) {
    run(model, segments, sink);
  }

  /**
   * Computes all segments as the other {@code run} does, with other weights.
   *
   * @param by weights of the same shape and kernel as the model's
   */
  void run(LlamaWeights by, List<Segment> segments, Sink sink) {
    weights = by;
    layers(segments);
    output(segments, sink);
  }

  /**
   * Computes all segments as {@code run} does, and passes the states of their rows to {@code sink}
   * in place of logits.
   *
   * @param everyRow whether all rows are passed, or only the last of each segment that wants logits
   */
  void runStates(List<Segment> segments, boolean everyRow, StateSink sink) {
    weights = model;
    layers(segments);
    int hidden = shape.hidden();
    int row = 0;
    for (int s = 0; s < segments.size(); s++) {
      var segment = segments.get(s);
      if (!Norm.isFinite(state, row * hidden, segment.count * hidden)) {
        sink.poisoned(s);
      } else if (everyRow || segment.wantsLogits) {
        int last = segment.count - 1;
        for (int i = everyRow ? 0 : last; i <= last; i++) {
          Norm.apply(
              state, (row + i) * hidden, weights.norm(), shape.normEpsilon(), normed, i * hidden);
          sink.state(s, segment.from + i, normed, i * hidden);
        }
      }
      row += segment.count;
    }
  }

  private void layers(List<Segment> segments) {
    int rows = embed(segments);
    for (int layer = 0; layer < shape.layers(); layer++) {
      layer(layer, segments, rows);
    }
  }

  private int embed(List<Segment> segments) {
    int hidden = shape.hidden();
    int row = 0;
    for (var segment : segments) {
      for (int i = 0; i < segment.count; i++) {
        int token = segment.tokens[segment.from + i];
        System.arraycopy(weights.embedding(), token * hidden, state, row * hidden, hidden);
        row++;
      }
    }
    return row;
  }

  private void layer(int index, List<Segment> segments, int rows) {
    var layer = weights.layers().get(index);
    norm(layer.attentionNorm(), rows);
    kernel.multiply(layer.query(), normed, rows, query);
    kernel.multiply(layer.key(), normed, rows, key);
    kernel.multiply(layer.value(), normed, rows, value);
    int row = 0;
    for (var segment : segments) {
      attend(index, segment, row);
      row += segment.count;
    }
    kernel.multiply(layer.attentionOutput(), attended, rows, normed);
    addNormed(rows);
    norm(layer.feedForwardNorm(), rows);
    kernel.multiply(layer.gate(), normed, rows, gate);
    kernel.multiply(layer.up(), normed, rows, up);
    kernel.gate(gate, up, rows * shape.feedForward());
    kernel.multiply(layer.down(), gate, rows, normed);
    addNormed(rows);
  }

  private void addNormed(int rows) {
    for (int i = 0; i < rows * shape.hidden(); i++) {
      state[i] += normed[i];
    }
  }

  private void norm(float[] by, int rows) {
    for (int row = 0; row < rows; row++) {
      Norm.apply(
          state, row * shape.hidden(), by, shape.normEpsilon(), normed, row * shape.hidden());
    }
  }

  private void attend(int layer, Segment segment, int firstRow) {
    int end = segment.from + segment.count;
    int blocks = (end + blockTokens - 1) / blockTokens;
    reserve(blocks);
    for (int b = 0; b < blocks; b++) {
      pieces[b] = store.at(segment.blocks[b], layer);
    }
    for (int i = 0; i < segment.count; i++) {
      place(firstRow + i, segment.from + i);
    }
    reader.open(pieces, blocks);
    for (int i = 0; i < segment.count; i++) {
      attendRow(firstRow + i, segment.from + i + 1);
    }
  }

  private void reserve(int blocks) {
    if (pieces.length < blocks) {
      pieces = new long[Math.max(blocks, 2 * pieces.length)];
      scores = new float[Math.multiplyExact(pieces.length, blockTokens)];
    }
  }

  /** Rotates a row's query and key, and writes its key and value into their block's piece. */
  private void place(int row, int position) {
    int dims = shape.headDim();
    for (int head = 0; head < shape.heads(); head++) {
      rotation.turn(query, row * shape.queryWidth() + head * dims, position);
    }
    var memory = store.memory();
    long piece = pieces[position / blockTokens];
    int token = position % blockTokens;
    for (int head = 0; head < shape.kvHeads(); head++) {
      int from = row * shape.kvWidth() + head * dims;
      rotation.turn(key, from, position);
      int keys = head * 2 * dims * blockTokens + token;
      for (int d = 0; d < dims; d++) {
        memory.set(NUMBER, piece + bytes(keys + d * blockTokens), key[from + d]);
      }
      int values = (head * 2 + 1) * dims * blockTokens + token * dims;
      MemorySegment.copy(value, from, memory, NUMBER, piece + bytes(values), dims);
    }
  }

  private static long bytes(int floats) {
    return (long) floats * Float.BYTES;
  }

  private void attendRow(int row, int length) {
    int dims = shape.headDim();
    int blocks = (length + blockTokens - 1) / blockTokens;
    int perKvHead = shape.heads() / shape.kvHeads();
    for (int head = 0; head < shape.heads(); head++) {
      int at = row * shape.queryWidth() + head * dims;
      int keys = head / perKvHead * 2 * dims * blockTokens;
      reader.scores(query, at, keys, blocks, scores);
      float max = Float.NEGATIVE_INFINITY;
      for (int t = 0; t < length; t++) {
        max = Math.max(max, scores[t]);
      }
      kernel.exp(scores, length, scale, max * scale);
      float sum = Norm.sum(scores, length);
      reader.weigh(scores, length, keys + dims * blockTokens, attended, at);
      float share = 1f / sum;
      for (int d = 0; d < dims; d++) {
        attended[at + d] *= share;
      }
    }
  }

  private void output(List<Segment> segments, Sink sink) {
    int hidden = shape.hidden();
    var waiting = new int[LOGIT_ROWS];
    int count = 0;
    int row = 0;
    for (int s = 0; s < segments.size(); s++) {
      var segment = segments.get(s);
      int last = row + segment.count - 1;
      if (!Norm.isFinite(state, row * hidden, segment.count * hidden)) {
        sink.poisoned(s);
      } else if (segment.wantsLogits) {
        var eps = shape.normEpsilon();
        Norm.apply(state, last * hidden, weights.norm(), eps, normed, count * hidden);
        waiting[count++] = s;
        if (count == LOGIT_ROWS) {
          emitLogits(waiting, count, sink);
          count = 0;
        }
      }
      row += segment.count;
    }
    emitLogits(waiting, count, sink);
  }

  private void emitLogits(int[] segments, int count, Sink sink) {
    int vocabulary = shape.vocabulary();
    kernel.multiply(weights.output(), normed, count, logits);
    for (int i = 0; i < count; i++) {
      if (Norm.isFinite(logits, i * vocabulary, vocabulary)) {
        sink.logits(segments[i], logits, i * vocabulary);
      } else {
        sink.poisoned(segments[i]);
      }
    }
  }
}
