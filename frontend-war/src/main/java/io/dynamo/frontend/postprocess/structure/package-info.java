/**
 * Describes the tool calls that a model may write as a structural tag: the form that engines with
 * xgrammar hold it to, in the model's own grammar. Start at {@link
 * io.dynamo.frontend.postprocess.structure.StructuralTags}. Knows the families of tool calls and
 * the card's policy; nothing of requests to workers.
 */
@NullMarked
package io.dynamo.frontend.postprocess.structure;

import org.jspecify.annotations.NullMarked;
