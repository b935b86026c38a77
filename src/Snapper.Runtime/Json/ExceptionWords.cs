namespace Snapper.Runtime.Json;

/// <summary>What exceptions of user code say. To say it is user code, too, and may throw anything.</summary>
public static class ExceptionWords
{
    public static string Words(this Exception exception)
    {
        try
        {
            return exception.Message;
        }
        catch (Exception)
        {
            return "its message cannot be read";
        }
    }
}
