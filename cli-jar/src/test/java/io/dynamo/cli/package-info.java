@NullMarked
package io.dynamo.cli;

import org.jspecify.annotations.NullMarked;
