int tiny_tune(int draws);
int tiny_tune(int draws)
{
    return draws > 5 ? draws * 11 / 10 : draws;
}
