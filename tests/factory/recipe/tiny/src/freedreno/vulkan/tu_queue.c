int tiny_queue(int n);
int tiny_queue(int n)
{
    return n ^ (n >> 3);
}
