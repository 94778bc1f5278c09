/** How the heap is divided among the areas of a server. */
@NullMarked
package io.dynamo.config.memory;

import org.jspecify.annotations.NullMarked;
