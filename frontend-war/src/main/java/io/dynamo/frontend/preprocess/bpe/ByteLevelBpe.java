package io.dynamo.frontend.preprocess.bpe;

import io.dynamo.config.memory.HeapShare;
import io.dynamo.error.CancelledException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.model.vocabulary.ByteAlphabet;
import io.dynamo.model.vocabulary.TiktokenFile;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the text between added tokens. The ids of short pieces are cached, as prompts repeat
 * their words. Safe for concurrent use.
 */
public final class ByteLevelBpe {
  static final int PER_LOOK = 1024; // pieces or merges between looks whether anybody still waits

  private static final int REMEMBERED = 1 << 14;
  private static final int LONGEST_REMEMBERED = 32; // characters

  private static final int LONG_PIECE = 1 << 16; // characters; no vocabulary has such a token

  private static final int WORKING_BYTES = 9; // for each byte of a piece
  private static final long LONGEST_PIECE = // UTF-8 bytes
      Math.min(1 << 28, HeapShare.LONG_PIECE.bytes() / WORKING_BYTES);

  private static final ReentrantLock ONE_LONG_PIECE = new ReentrantLock(); // of all models

  /** A piece and its ids. */
  private record Word(String piece, int[] ids) {}

  private final Splitter splitter;
  private final MergeTable merges;
  private final int[] byteIds;
  private final @Nullable Map<String, Integer> whole; // pieces that are tokens without merging

  // a word at the place of its hash; written without locks, as words do not change
  private final @Nullable Word[] words = new Word[REMEMBERED];

  private ByteLevelBpe(
      Splitter splitter, MergeTable merges, int[] byteIds, @Nullable Map<String, Integer> whole) {
    this.splitter = splitter;
    this.merges = merges;
    this.byteIds = byteIds;
    this.whole = whole;
  }

  /**
   * From a parsed {@code tokenizer.json}, or what {@link TiktokenFile} gives in its place.
   *
   * @throws IllegalArgumentException when a vocabulary of {@code tiktoken} can be merged in too
   *     many ways
   * @return null when its pre-tokenizer or model is not of the kind that is known here
   */
  public static @Nullable ByteLevelBpe of(Map<?, ?> tokenizer) {
    if (!(tokenizer.get("model") instanceof Map<?, ?> model)) {
      return null;
    }
    if (TiktokenFile.MODEL_TYPE.equals(model.get("type"))) {
      return ofRanks(model);
    }
    var splitter = PieceSplitter.of(tokenizer.get("pre_tokenizer"));
    if (splitter == null
        || !"BPE".equals(model.get("type"))
        || !isAbsent(model.get("dropout"))
        || !isAbsent(model.get("continuing_subword_prefix"))
        || !isAbsent(model.get("end_of_word_suffix"))
        || !(model.get("vocab") instanceof Map<?, ?> entries)
        || !(model.get("merges") instanceof List<?> pairs)) {
      return null;
    }
    var vocabulary = vocabulary(entries);
    var byteIds = byteIds(vocabulary);
    var merges = MergeTable.of(pairs, vocabulary);
    boolean whole = Boolean.TRUE.equals(model.get("ignore_merges"));
    if (byteIds == null || merges == null) {
      return null;
    }
    for (var entry : tokenizer.get("added_tokens") instanceof List<?> list ? list : List.of()) {
      if (entry instanceof Map<?, ?> token && token.get("content") instanceof String content) {
        vocabulary.remove(spelled(content)); // no piece of text is one
      }
    }
    return new ByteLevelBpe(splitter, merges, byteIds, whole ? vocabulary : null);
  }

  /** A vocabulary of {@code tiktoken}: a piece that is a token is not merged. */
  private static @Nullable ByteLevelBpe ofRanks(Map<?, ?> model) {
    var vocabulary = model.get("vocab") instanceof Map<?, ?> map ? vocabulary(map) : null;
    var byteIds = vocabulary == null ? null : byteIds(vocabulary);
    return vocabulary == null || byteIds == null
        ? null
        : new ByteLevelBpe(new KimiSplitter(), MergeTable.ofRanks(vocabulary), byteIds, vocabulary);
  }

  private static Map<String, Integer> vocabulary(Map<?, ?> entries) {
    var vocabulary = HashMap.<String, Integer>newHashMap(entries.size());
    for (var entry : entries.entrySet()) {
      if (entry.getValue() instanceof Number id) {
        vocabulary.put(String.valueOf(entry.getKey()), id.intValue());
      }
    }
    return vocabulary;
  }

  /** The ids of the single bytes; null when one has none. */
  private static int @Nullable [] byteIds(Map<String, Integer> vocabulary) {
    var byteIds = new int[256];
    for (int b = 0; b < 256; b++) {
      var id = vocabulary.get(ByteAlphabet.spelled(new byte[] {(byte) b}));
      if (id == null) {
        return null;
      }
      byteIds[b] = id;
    }
    return byteIds;
  }

  private static boolean isAbsent(@Nullable Object option) {
    return option == null
        || option.equals("")
        || (option instanceof Number number && number.doubleValue() == 0);
  }

  /**
   * Appends the ids of a part of {@code text}, as if it were the whole.
   *
   * @param text without halves of surrogate pairs
   * @throws TooManyTokensException when {@code ids} is full
   * @throws CancelledException when the thread is interrupted
   * @throws InvalidRequestException when a piece is too long for the memory of this process
   */
  public void encode(String text, int from, int to, TokenList ids) {
    int pieces = 0;
    for (int at = from; at < to; ) {
      int end = splitter.end(text, at, to);
      piece(text, at, end, ids);
      at = end;
      if (++pieces % PER_LOOK == 0) {
        checkWanted();
      }
    }
  }

  /**
   * Throws when the thread was interrupted, because its caller has stopped waiting.
   *
   * @throws CancelledException when the thread is interrupted
   */
  public static void checkWanted() {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancelledException("the caller no longer waits for the prompt");
    }
  }

  private void piece(String text, int from, int to, TokenList ids) {
    int length = to - from;
    if (length > LONG_PIECE) {
      longPiece(text, from, to, ids);
      return;
    }
    if (length > LONGEST_REMEMBERED) {
      var merged = merged(text.substring(from, to));
      ids.add(merged, merged.length);
      return;
    }
    int hash = length;
    for (int i = from; i < to; i++) {
      hash = 31 * hash + text.charAt(i);
    }
    int place = (hash ^ (hash >>> 15)) & (REMEMBERED - 1);
    var word = words[place];
    if (word == null || word.piece.length() != length || !text.startsWith(word.piece, from)) {
      var piece = text.substring(from, to);
      word = new Word(piece, merged(piece));
      words[place] = word;
    }
    ids.add(word.ids, word.ids.length);
  }

  /**
   * Encodes one long piece at a time: memory for the longest is reserved once, not for each thread.
   */
  private void longPiece(String text, int from, int to, TokenList ids) {
    long bytes = utf8Length(text, from, to);
    if (bytes > LONGEST_PIECE) {
      throw new InvalidRequestException(
          ("the prompt has %d bytes without a place where the tokenizer may cut, more than the %d"
                  + " that the heap has room for; break them up, or raise -Xmx")
              .formatted(bytes, LONGEST_PIECE));
    }
    lockInterruptibly();
    try {
      new Symbols(merges, byteIds(text, from, to, (int) bytes)).merge(ids);
    } finally {
      ONE_LONG_PIECE.unlock();
    }
  }

  private static void lockInterruptibly() {
    try {
      ONE_LONG_PIECE.lockInterruptibly();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      checkWanted();
    }
  }

  private static long utf8Length(String text, int from, int to) {
    long length = 0;
    for (int at = from; at < to; at++) {
      char c = text.charAt(at);
      length += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3; // a pair has 4
    }
    return length;
  }

  /** The ids of the bytes of a part of {@code text}, without a copy of the part. */
  private int[] byteIds(String text, int from, int to, int length) {
    var ids = new int[length];
    int next = 0;
    for (int at = from; at < to; ) {
      int c = text.codePointAt(at);
      at += Character.charCount(c);
      if (c < 0x80) {
        ids[next++] = byteIds[c];
        continue;
      }
      int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3; // bytes of six bits behind the first
      ids[next++] = byteIds[((0xFF80 >> more) & 0xFF) | (c >> (6 * more))];
      while (--more >= 0) {
        ids[next++] = byteIds[0x80 | ((c >> (6 * more)) & 0x3F)];
      }
    }
    return ids;
  }

  private static String spelled(String piece) {
    return ByteAlphabet.spelled(piece.getBytes(StandardCharsets.UTF_8));
  }

  private int[] merged(String piece) {
    if (whole != null) {
      var id = whole.get(spelled(piece));
      if (id != null) {
        return new int[] {id};
      }
    }
    var ids = new TokenList(piece.length(), Integer.MAX_VALUE);
    int bytes = (int) utf8Length(piece, 0, piece.length());
    new Symbols(merges, byteIds(piece, 0, piece.length(), bytes)).merge(ids);
    return ids.toArray();
  }
}
