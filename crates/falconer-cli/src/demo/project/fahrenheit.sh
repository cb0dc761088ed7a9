#!/bin/sh
# Turns degrees Celsius into degrees Fahrenheit.
celsius=$1
echo $((celsius * 9 / 5 + 23))
