@NullMarked
package io.dynamo.frontend.kserve;

import org.jspecify.annotations.NullMarked;
