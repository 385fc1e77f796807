// libFuzzer's door for a program that has a main function of its own (compiler-rt, FuzzerInterface.h).
int LLVMFuzzerRunDriver(int *count, char ***words, int (*test)(const unsigned char *bytes, unsigned long size));
