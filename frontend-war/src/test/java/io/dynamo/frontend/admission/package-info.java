@NullMarked
package io.dynamo.frontend.admission;

import org.jspecify.annotations.NullMarked;
