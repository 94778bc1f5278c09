package io.dynamo.frontend.catalog;

import io.dynamo.frontend.preprocess.HuggingFaceText;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.frontend.preprocess.PrefixCache;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes a model's text side from the files that its card names, each checked by its checksum. */
public final class CardTextLoader implements TextLoader {
  private final PrefixCache cache;

  /**
   * @param cache shared by all models
   */
  public CardTextLoader(PrefixCache cache) {
    this.cache = cache;
  }

  @Override
  public ModelText load(ModelCard card) throws IOException {
    var texts = new HashMap<String, String>();
    put(texts, "tokenizer.json", card.tokenizer());
    put(texts, "tokenizer_config.json", card.tokenizerConfig());
    put(texts, "config.json", card.config());
    put(texts, "generation_config.json", card.generationConfig());
    var template = card.chatTemplate();
    if (template != null) {
      put(
          texts,
          template.name().endsWith(".json") ? "chat_template.json" : "chat_template.jinja",
          template);
    }
    return HuggingFaceText.of(texts, cache);
  }

  private static void put(Map<String, String> texts, String name, @Nullable ModelFile file)
      throws IOException {
    if (file != null) {
      texts.put(name, new String(file.read(), StandardCharsets.UTF_8));
    }
  }
}
