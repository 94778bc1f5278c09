package io.dynamo.frontend.media;

import io.dynamo.frontend.preprocess.ImageTokens;
import io.dynamo.inference.ExpandedPrompt;
import io.dynamo.token.MediaPads;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Replaces the placeholders of a prompt by the tokens that its images take. Stateless. */
final class PromptExpansion {
  private PromptExpansion() {}

  /**
   * Expands a prompt.
   *
   * @param images in the order of the prompt
   * @return null when it has another number of placeholders, or becomes too long
   */
  static @Nullable ExpandedPrompt of(int[] tokens, ImageTokens model, List<MeasuredImage> images) {
    var counts = new int[images.size()];
    long length = (long) tokens.length - images.size();
    for (int i = 0; i < counts.length; i++) {
      counts[i] = model.count(images.get(i).width(), images.get(i).height());
      length += counts[i];
      if (length > ExpandedPrompt.MAX_TOKENS) {
        return null;
      }
    }
    if (Arrays.stream(tokens).filter(id -> id == model.placeholder()).count() != counts.length) {
      return null;
    }
    var expanded = new int[(int) length];
    int at = 0;
    int image = 0;
    for (int id : tokens) {
      if (id == model.placeholder()) {
        Arrays.fill(expanded, at, at + counts[image], MediaPads.of(images.get(image).hash()));
        at += counts[image++];
      } else {
        expanded[at++] = id;
      }
    }
    return new ExpandedPrompt(expanded);
  }
}
