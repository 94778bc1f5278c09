/** The division of the heap among the areas of a server. */
@NullMarked
package io.dynamo.config.memory;

import org.jspecify.annotations.NullMarked;
