package io.dynamo.frontend.catalog;

import io.dynamo.config.plane.ModelFileSettings;
import io.dynamo.frontend.preprocess.HuggingFaceText;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.frontend.preprocess.PrefixCache;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelFile;
import io.dynamo.model.ModelFileReader;
import io.dynamo.model.vocabulary.TiktokenFile;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Builds a model's text side from the files that its card names, each verified by its checksum. Few
 * are built at a time: while one is read and parsed it takes several times the size of its files.
 */
public final class CardTextLoader implements TextLoader {
  private static final int AT_A_TIME = 2;
  private static final long TURN_SECONDS = 300; // two loads that use their full time
  private static final String IMAGES = "preprocessor_config.json";
  private static final int MAX_BYTES = 16 << 20; // limit of a file other than a tokenizer

  private final PrefixCache cache;
  private final ModelFileReader files;
  private final int maxTokenizerBytes;
  private final Semaphore turns = new Semaphore(AT_A_TIME, true);

  /**
   * @param cache shared by all models
   */
  public CardTextLoader(PrefixCache cache, ModelFileSettings settings) {
    this.cache = cache;
    this.files = new ModelFileReader(settings);
    this.maxTokenizerBytes = settings.maxBytes();
  }

  @Override
  public ModelText load(ModelCard card) throws IOException {
    try {
      if (!turns.tryAcquire(TURN_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException(
            "the files of other models have been read for %d s".formatted(TURN_SECONDS));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("stopped loading a model").initCause(e);
    }
    try {
      return HuggingFaceText.of(texts(card), card.displayName(), cache);
    } finally {
      turns.release();
    }
  }

  private Map<String, String> texts(ModelCard card) throws IOException {
    var texts = new HashMap<String, String>();
    var tokenizer = card.tokenizer();
    put(
        texts,
        tokenizer != null && tokenizer.isTiktoken() ? TiktokenFile.NAME : "tokenizer.json",
        tokenizer,
        maxTokenizerBytes);
    put(texts, "tokenizer_config.json", card.tokenizerConfig());
    put(texts, "config.json", card.config());
    put(texts, "generation_config.json", card.generationConfig());
    putImages(texts, card);
    var template = card.chatTemplate();
    if (template != null) {
      put(
          texts,
          template.name().endsWith(".json") ? "chat_template.json" : "chat_template.jinja",
          template);
    }
    return texts;
  }

  /**
   * Reads how the model scales images: a card names no such file, but it hosts all files of the
   * model, or they are beside {@code config.json}.
   */
  private void putImages(Map<String, String> texts, ModelCard card) throws IOException {
    for (var file : card.extraFiles()) {
      if (file.name().equals(IMAGES)) {
        put(texts, IMAGES, file);
        return;
      }
    }
    var config = card.config();
    var beside = config == null ? null : files.readBeside(config, IMAGES, MAX_BYTES);
    if (beside != null) {
      texts.put(IMAGES, new String(beside, StandardCharsets.UTF_8));
    }
  }

  private void put(Map<String, String> texts, String name, @Nullable ModelFile file)
      throws IOException {
    put(texts, name, file, Math.min(MAX_BYTES, maxTokenizerBytes));
  }

  private void put(Map<String, String> texts, String name, @Nullable ModelFile file, int maxBytes)
      throws IOException {
    if (file != null) {
      texts.put(name, new String(files.read(file, maxBytes), StandardCharsets.UTF_8));
    }
  }
}
