/**
 * The description of a model: its card in discovery and its directory on disk. Start at {@link
 * io.dynamo.model.ModelCard}.
 */
@NullMarked
package io.dynamo.model;

import org.jspecify.annotations.NullMarked;
